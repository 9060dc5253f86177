/**
 * The API for container factories. Only this package, its sub-packages, {@code ExactlyOnceListener} and {@code
 * FollowUp} depend on Spring Cloud AWS.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.listener;

import org.jspecify.annotations.NullMarked;
