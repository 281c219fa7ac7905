"""`spark`, one planned call: the plan, its check, its run, and the prompt made of the graph."""

from orienteer.strategies.spark.config import SparkConfig
from orienteer.strategies.spark.strategy import Spark

__all__ = ["Spark", "SparkConfig"]
