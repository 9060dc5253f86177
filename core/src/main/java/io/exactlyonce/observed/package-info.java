/**
 * Claims beside handlers of listeners that are only observed, and what enforcing would have prevented. No handler waits for anything
 * in here. It knows neither Spring Cloud AWS nor meters.
 */
@NullMarked
package io.exactlyonce.observed;

import org.jspecify.annotations.NullMarked;
