/** What applications that are prepared ahead of time, or made native, have to be told of listeners. */
@NullMarked
package io.exactlyonce.listener.aot;

import org.jspecify.annotations.NullMarked;
