package io.exactlyonce.benchmarks;

import java.time.Duration;

/**
 * The extent of one turn of a contestant.
 *
 * @param length the length, for contestants that work for a time
 * @param messages the number of messages, for contestants that drain a queue
 */
public record Turn(Duration length, int messages) {}
