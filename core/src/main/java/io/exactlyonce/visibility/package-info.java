/**
 * The visibility of messages in SQS: visibility timeouts, and requests that change them or delete.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.visibility;

import org.jspecify.annotations.NullMarked;
