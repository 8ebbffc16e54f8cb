"""What holds of all tests."""

from hypothesis import settings

# pytest-timeout watches over time; a busy machine makes no example wrong.
settings.register_profile("ms-operator", deadline=None)
settings.load_profile("ms-operator")
