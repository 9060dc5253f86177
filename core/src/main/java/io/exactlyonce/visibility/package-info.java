/**
 * The visibility of messages in SQS: visibility timeouts, and requests that change them or delete. It uses no other
 * package of ours.
 */
@NullMarked
package io.exactlyonce.visibility;

import org.jspecify.annotations.NullMarked;
