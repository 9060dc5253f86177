/**
 * Internal: the entry of foreign threads into the engine, the handling of crashes there, and failures: their causes, and how
 * a log shows texts of others. Every package may use it.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.boundary;

import org.jspecify.annotations.NullMarked;
