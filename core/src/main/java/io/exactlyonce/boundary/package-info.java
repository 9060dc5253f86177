/** Where threads that are not the engine's own enter it, what a crash does there, and what lies behind a failure. It uses no other package of ours. */
@NullMarked
package io.exactlyonce.boundary;

import org.jspecify.annotations.NullMarked;
