package io.exactlyonce.chaos.fleet;

/**
 * Where workers find the harness and its servers.
 *
 * @param partner URL
 * @param recorder port
 * @param points port
 * @param sqs port of the wire that records
 */
public record Addresses(String partner, int recorder, int points, int sqs) {}
