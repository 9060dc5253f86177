/**
 * Internal: the content by which two messages of one key are compared, and its SHA-256.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.fingerprint;

import org.jspecify.annotations.NullMarked;
