/**
 * What bounds a listener: how many messages it may poll, and how many handlers run at a time. Internal; it asks {@code
 * delivery.waiting} whether claims can be made at all.
 */
@NullMarked
package io.exactlyonce.listener.permits;

import org.jspecify.annotations.NullMarked;
