/**
 * What is wrong with a queue for the listener that polls it, before that does harm: rules over the queue's attributes and
 * the listener's settings. The rules are pure; attributes are read with the listener's own client.
 */
@NullMarked
package io.exactlyonce.audit;

import org.jspecify.annotations.NullMarked;
