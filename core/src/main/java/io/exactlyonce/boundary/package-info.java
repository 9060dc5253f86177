/**
 * Internal: handles crashes of the library's own code on threads of other libraries. Also contains the causes of
 * failures, safe texts for logs, and the hashes of keys. Every package may use it.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.boundary;

import org.jspecify.annotations.NullMarked;
