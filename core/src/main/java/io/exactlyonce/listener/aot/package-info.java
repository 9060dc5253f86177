/** Hints on listeners for ahead-of-time processing and native images. */
@NullMarked
package io.exactlyonce.listener.aot;

import org.jspecify.annotations.NullMarked;
