package io.exactlyonce.chaos.fleet;

import java.util.function.IntSupplier;

/**
 * Where workers find the harness and its servers.
 *
 * @param partner URL
 * @param recorder port
 * @param points port
 * @param sqs port of the wire that records
 * @param primary port of the primary at the moment
 * @param replica port of the replica at the moment
 */
public record Addresses(String partner, int recorder, int points, int sqs, IntSupplier primary, IntSupplier replica) {}
