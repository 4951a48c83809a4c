"""What executes an image. A runner knows no store."""
