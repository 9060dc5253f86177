package io.exactlyonce.model;

/**
 * The limits of an exploration.
 *
 * @param faults how many may happen
 * @param receives how often each message is received before SQS gives it up
 */
record Bounds(int faults, int receives) {}
