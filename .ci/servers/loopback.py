"""LocalStack, listening at 127.0.0.1 only: by itself it takes the port of GATEWAY_LISTEN on all of the machine's addresses."""

import functools
import runpy

from twisted.internet import endpoints

endpoints.TCP4ServerEndpoint = functools.partial(endpoints.TCP4ServerEndpoint, interface="127.0.0.1")
runpy.run_module("localstack.runtime.main", run_name="__main__")
