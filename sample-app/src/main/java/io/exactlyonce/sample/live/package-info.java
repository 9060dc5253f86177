/** The lab with its web page: endless orders, faults at the push of a button, and the live outcome. */
@NullMarked
package io.exactlyonce.sample.live;

import org.jspecify.annotations.NullMarked;
