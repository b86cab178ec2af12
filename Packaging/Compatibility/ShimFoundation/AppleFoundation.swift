public import Dispatch
import Foundation
@_exported public import FoundationNetworking
@_exported public import ShimObjectiveC

@_exported public import typealias CoreBluetooth.CFAbsoluteTime
@_exported public import func CoreBluetooth.CFAbsoluteTimeGetCurrent
@_exported public import typealias CoreBluetooth.CFTimeInterval
@_exported public import var CoreBluetooth.MSEC_PER_SEC
@_exported public import var CoreBluetooth.NSEC_PER_MSEC
@_exported public import var CoreBluetooth.NSEC_PER_SEC
@_exported public import var CoreBluetooth.NSEC_PER_USEC
@_exported public import var CoreBluetooth.USEC_PER_SEC
@_exported public import protocol ShimOpenCombine.ObservableObject
@_exported public import struct ShimOpenCombine.Published

// The names that programs on Apple's systems have with Foundation, and Foundation on Linux lacks. The compiler imports
// this module into the files of modules that import Foundation. A declaration of another module takes precedence.

/// A queue that runs one closure at a time, which is what a queue with a label does.
public typealias DispatchSerialQueue = DispatchQueue

/// Queues can be the executors of actors.
extension DispatchQueue: @retroactive SerialExecutor {
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    public func checkIsolated() { dispatchPrecondition(condition: .onQueue(self)) }
}

extension DispatchTime {
    /// Returns the time from this point to another one; negative if the other one is earlier.
    public func distance(to other: DispatchTime) -> DispatchTimeInterval {
        let (first, second) = (uptimeNanoseconds, other.uptimeNanoseconds)
        let distance = Int(clamping: first < second ? second - first : first - second)
        return .nanoseconds(first < second ? distance : -distance)
    }

    /// Returns the point after an interval.
    public func advanced(by interval: DispatchTimeInterval) -> DispatchTime { self + interval }
}
