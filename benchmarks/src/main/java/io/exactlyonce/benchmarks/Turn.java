package io.exactlyonce.benchmarks;

import java.time.Duration;

/**
 * How much a contestant does in one go.
 *
 * @param length for contestants that go by the clock
 * @param messages for contestants that drain a queue
 */
public record Turn(Duration length, int messages) {}
