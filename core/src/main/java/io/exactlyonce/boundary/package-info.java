/**
 * Internal: the entry of foreign threads into the engine, the handling of crashes there, the causes of failures, and
 * foreign texts in logs. Every package may use it.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.boundary;

import org.jspecify.annotations.NullMarked;
