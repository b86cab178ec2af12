// Apps written for Apple's framework often import nothing but it, and use what these two hold.
@_exported public import Dispatch
@_exported public import Foundation

/// A queue on which blocks run, under the name that Apple's framework uses for it.
public typealias dispatch_queue_t = DispatchQueue

/// A moment, in seconds since the beginning of 2001.
public typealias CFAbsoluteTime = Double

/// Names a service behind an L2CAP connection-oriented channel: protocol/service multiplexer.
public typealias CBL2CAPPSM = UInt16
