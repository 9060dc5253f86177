/** Feeds the foresight of windows with the deliveries of the running application, and tells what it says. */
@NullMarked
package io.exactlyonce.window.watch;

import org.jspecify.annotations.NullMarked;
