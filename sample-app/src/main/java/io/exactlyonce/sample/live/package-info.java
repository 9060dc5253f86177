/** The lab with its web page: orders without end, trouble at the push of a button, and what becomes of them, live. */
@NullMarked
package io.exactlyonce.sample.live;

import org.jspecify.annotations.NullMarked;
