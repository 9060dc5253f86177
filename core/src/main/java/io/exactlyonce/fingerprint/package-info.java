/** Internal: the content by which two messages of one key are compared, and its SHA-256. */
@NullMarked
package io.exactlyonce.fingerprint;

import org.jspecify.annotations.NullMarked;
