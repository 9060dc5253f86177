package io.exactlyonce.chaos.endurance;

/**
 * A message.
 *
 * @param millis how long its handler takes
 */
record Job(String key, long millis) {}
