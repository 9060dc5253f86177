package io.exactlyonce.chaos.fleet;

/**
 * Addresses of the harness and its servers, for workers.
 *
 * @param partner URL
 * @param recorder port
 * @param points port
 * @param sqs port of the wire that records
 */
public record Addresses(String partner, int recorder, int points, int sqs) {}
