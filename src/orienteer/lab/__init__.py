"""What a researcher starts: evaluation, quizzes, baselines of the papers, formats of benchmarks, training."""
