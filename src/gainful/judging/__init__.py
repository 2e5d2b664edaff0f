"""What incomplete judgments allow: bounds, pools, what to judge next."""
