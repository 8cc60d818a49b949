"""Requests to search with."""

QUERIES = (
    "create an issue in a repository",
    "send a message to a channel and pin it",
    "list the invoices of a customer",
    "query a database table",
    "take a screenshot of a web page",
    "translate a document into another language",
    "restart a deployment in the cluster",
    "find papers about a topic and download them",
    "add an event to the calendar and invite people",
    "deploy a static site",
)
