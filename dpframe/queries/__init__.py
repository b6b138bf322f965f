"""What is asked: public objects that hold no data."""
