"""What measures current or energy. A meter knows no store."""
