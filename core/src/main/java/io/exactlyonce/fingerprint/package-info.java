/**
 * Internal: fingerprints, which show whether two messages of one key have the same content.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.fingerprint;

import org.jspecify.annotations.NullMarked;
