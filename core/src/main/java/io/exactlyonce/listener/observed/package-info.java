/**
 * Listeners that are only observed: awspring's own containers, with a look at each message before its handler and at how that ended.
 * Internal; it uses {@code sighting}.
 */
@NullMarked
package io.exactlyonce.listener.observed;

import org.jspecify.annotations.NullMarked;
