package io.exactlyonce.chaos.queue;

/**
 * A message to send.
 *
 * @param stream the queue
 * @param key the business key, unique over all queues
 * @param body the message's body
 * @param group the group of a FIFO queue's message, otherwise empty
 * @param position the position in the group, counted from 1
 */
public record TestMessage(Stream stream, String key, String body, String group, int position) {}
