/**
 * Internal: handles crashes of the library's own code on threads of other libraries. Also finds the causes of failures,
 * makes texts safe for logs, and hashes keys. Every package may use this package.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.boundary;

import org.jspecify.annotations.NullMarked;
