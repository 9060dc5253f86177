/**
 * What is seen where listeners are only observed: claims that are recorded beside handlers which run anyway, and what enforcing
 * would have prevented. No handler waits for anything in here. It knows neither awspring nor meters.
 */
@NullMarked
package io.exactlyonce.sighting;

import org.jspecify.annotations.NullMarked;
