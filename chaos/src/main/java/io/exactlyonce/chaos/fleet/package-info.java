/** The workers' processes: started, killed, frozen, stopped and started again. */
@NullMarked
package io.exactlyonce.chaos.fleet;

import org.jspecify.annotations.NullMarked;
