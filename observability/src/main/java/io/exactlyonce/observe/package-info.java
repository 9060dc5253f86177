/**
 * Observes deliveries: the log's context, observations (spans), application events, and counts and log lines of
 * prevented repeats. It uses no meters.
 */
@NullMarked
package io.exactlyonce.observe;

import org.jspecify.annotations.NullMarked;
