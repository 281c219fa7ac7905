"""`spark`, one planned call: the plan, its check, its run, and the prompt made of the graph."""

from orienteer.methods.spark.config import SparkConfig
from orienteer.methods.spark.method import Spark

__all__ = ["Spark", "SparkConfig"]
