package io.exactlyonce.chaos.queue;

/**
 * A message to be sent.
 *
 * @param stream its queue
 * @param key business key, unique over all queues
 * @param body what SQS carries
 * @param group of a FIFO queue's message, else empty
 * @param position in its group, from 1
 */
public record TestMessage(Stream stream, String key, String body, String group, int position) {}
