package io.exactlyonce.benchmarks;

import java.time.Duration;

/**
 * How much a contestant does in one go.
 *
 * @param length for those who go by the clock
 * @param messages for those who drain a queue
 */
public record Turn(Duration length, int messages) {}
