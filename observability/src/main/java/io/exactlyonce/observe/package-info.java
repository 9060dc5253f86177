/**
 * What accompanies deliveries: the log's context, observations (spans), application events, and counts and lines of what was
 * prevented. It uses no meters.
 */
@NullMarked
package io.exactlyonce.observe;

import org.jspecify.annotations.NullMarked;
