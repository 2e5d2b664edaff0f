"""WHAT is measured: measures, their notation and the policy, as frozen values."""
