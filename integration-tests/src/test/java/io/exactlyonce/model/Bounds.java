package io.exactlyonce.model;

/**
 * The limits of an exploration.
 *
 * @param faults the most faults that may happen
 * @param receives how often each message is received before SQS moves it to the dead-letter queue
 */
record Bounds(int faults, int receives) {}
