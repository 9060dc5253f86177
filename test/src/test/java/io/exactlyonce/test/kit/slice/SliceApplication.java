package io.exactlyonce.test.kit.slice;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application as users write it. The tests of this package find this class. */
@SpringBootApplication
class SliceApplication {}
