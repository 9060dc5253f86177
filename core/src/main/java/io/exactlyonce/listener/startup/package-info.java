/**
 * The diagnosis at a listener's startup: a summary of each listener, settings that do not apply, queues and pools that
 * listeners share, and queues that are unavailable. Internal; it uses {@code listener.method}, {@code delivery} and
 * {@code visibility}, and {@code listener.container} uses it.
 */
@NullMarked
package io.exactlyonce.listener.startup;

import org.jspecify.annotations.NullMarked;
