/**
 * What applications touch: the annotation, the claim that a handler may ask for, and the exceptions. It uses nothing else
 * of this library.
 */
@NullMarked
package io.exactlyonce;

import org.jspecify.annotations.NullMarked;
