/**
 * The expressions that name a message's key and fingerprint: parsed and read when the application starts, evaluated for each message.
 * Internal; it uses {@code listener.message}.
 */
@NullMarked
package io.exactlyonce.listener.expression;

import org.jspecify.annotations.NullMarked;
