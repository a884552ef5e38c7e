package main

import (
	"encoding/binary"
	"log"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/rawfile"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/link/channel"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
)

const (
	// virtioHeader is the length of the header in front of a packet.
	virtioHeader = 10
	// longest is the length of the longest packet.
	longest = 1<<16 - 1
	// needsSum says that the checksum is still to be computed.
	needsSum = 1
	// segments says that the packet is to be cut into segments of TCP over IPv4.
	segments = 1
)

// offloading is a TUN device with a virtio-net header. gVisor's own endpoint uses the header on sockets only.
type offloading struct {
	*channel.Endpoint
	fd int
}

func newOffloading(fd int, mtu uint32) *offloading {
	link := &offloading{channel.New(0, mtu, ""), fd}
	link.SupportedGSOKind = stack.HostGSOSupported
	// The device computes the sums of what it segments; gVisor asks that for nothing else.
	link.LinkEPCapabilities = stack.CapabilityRXChecksumOffload
	return link
}

// GSOMaxSize implements stack.GSOEndpoint.
func (*offloading) GSOMaxSize() uint32 { return longest }

// Attach implements stack.LinkEndpoint.
func (o *offloading) Attach(dispatcher stack.NetworkDispatcher) {
	o.Endpoint.Attach(dispatcher)
	if dispatcher != nil {
		if err := unix.SetNonblock(o.fd, true); err != nil {
			log.Fatal(err)
		}
		go o.read()
	}
}

// read takes packets from the device.
func (o *offloading) read() {
	buf := make([]byte, virtioHeader+longest)
	for {
		n, errno := rawfile.BlockingRead(o.fd, buf)
		if errno != 0 {
			log.Fatal(errno)
		}
		if n <= virtioHeader {
			continue
		}
		view := buffer.NewViewWithData(buf[virtioHeader:n])
		packet := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithView(view)})
		o.InjectInbound(ipv4.ProtocolNumber, packet)
		packet.DecRef()
	}
}

// WritePackets implements stack.LinkEndpoint.
func (o *offloading) WritePackets(packets stack.PacketBufferList) (int, tcpip.Error) {
	for written, packet := range packets.AsSlice() {
		var head [virtioHeader]byte
		if gso := packet.GSOOptions; gso.Type != stack.GSONone {
			if gso.NeedsCsum {
				head[0] = needsSum
				binary.LittleEndian.PutUint16(head[6:], gso.L3HdrLen)
				binary.LittleEndian.PutUint16(head[8:], gso.CsumOffset)
			}
			if packet.Data().Size() > int(gso.MSS) {
				head[1] = segments
				binary.LittleEndian.PutUint16(head[2:], uint16(packet.HeaderSize()))
				binary.LittleEndian.PutUint16(head[4:], gso.MSS)
			}
		}
		views := packet.AsSlices()
		vectors := make([]unix.Iovec, 0, len(views)+1)
		vectors = rawfile.AppendIovecFromBytes(vectors, head[:], len(views)+1)
		for _, view := range views {
			vectors = rawfile.AppendIovecFromBytes(vectors, view, len(views)+1)
		}
		if errno := rawfile.NonBlockingWriteIovec(o.fd, vectors); errno != 0 {
			return written, tcpip.TranslateErrno(errno)
		}
	}
	return packets.Len(), nil
}
