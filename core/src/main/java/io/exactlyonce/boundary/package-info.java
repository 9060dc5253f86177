/** Where threads that are not the engine's own enter it, and what a crash does there. It uses no other package of ours. */
@NullMarked
package io.exactlyonce.boundary;

import org.jspecify.annotations.NullMarked;
