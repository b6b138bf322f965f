"""Units, amounts, losses, sensitivities, accountants and the ledger."""
