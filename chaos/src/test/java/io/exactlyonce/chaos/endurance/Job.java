package io.exactlyonce.chaos.endurance;

/**
 * A message.
 *
 * @param millis time that the handler takes
 */
record Job(String key, long millis) {}
