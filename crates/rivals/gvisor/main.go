// Command gvisor is one flow of gVisor's TCP with the kernel, for longhaul-rivals to compare with.
//
// Its standard input is a TUN device that is up. It dials the kernel's end and sends or reads until it is killed. When it
// reads, it prints the bytes so far, a line every five milliseconds.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"sync/atomic"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/fdbased"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

// device is the descriptor of the TUN device.
const device = 0

func main() {
	sends := flag.Bool("send", false, "send instead of reading")
	offload := flag.Bool("offload", false, "the device has a virtio-net header in front of each packet")
	ours := flag.String("ours", "", "this stack's `address`")
	theirs := flag.String("theirs", "", "the kernel's `address`")
	port := flag.Uint("port", 0, "the kernel's port")
	mtu := flag.Uint("mtu", 1500, "`bytes` of a packet")
	call := flag.Int("call", 256<<10, "`bytes` that the application moves a call")
	control := flag.String("control", "cubic", "congestion control")
	buffer := flag.Int("buffer", 4<<20, "most `bytes` of each buffer")
	flag.Parse()

	var link stack.LinkEndpoint
	if *offload {
		link = newOffloading(device, uint32(*mtu))
	} else {
		var err error
		link, err = fdbased.New(&fdbased.Options{FDs: []int{device}, MTU: uint32(*mtu)})
		must(err)
	}
	conn, err := dial(link, *ours, *theirs, uint16(*port), *control, *buffer)
	must(err)
	buf := make([]byte, *call)
	if *sends {
		for {
			_, err := conn.Write(buf)
			must(err)
		}
	}
	var read atomic.Int64
	go func() {
		for range time.Tick(5 * time.Millisecond) {
			fmt.Println(read.Load())
		}
	}()
	for {
		n, err := conn.Read(buf)
		must(err)
		read.Add(int64(n))
	}
}

// dial makes a stack over the device, and a connection of it.
func dial(link stack.LinkEndpoint, ours, theirs string, port uint16, control string, buffer int) (net.Conn, error) {
	s := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
	})
	congestion := tcpip.CongestionControlOption(control)
	sack, moderate := tcpip.TCPSACKEnabled(true), tcpip.TCPModerateReceiveBufferOption(true)
	options := []tcpip.SettableTransportProtocolOption{
		&congestion, &sack, &moderate,
		&tcpip.TCPSendBufferSizeRangeOption{Min: 4 << 10, Default: buffer, Max: buffer},
		&tcpip.TCPReceiveBufferSizeRangeOption{Min: 4 << 10, Default: buffer, Max: buffer},
	}
	for _, option := range options {
		if err := s.SetTransportProtocolOption(tcp.ProtocolNumber, option); err != nil {
			return nil, fmt.Errorf("%T: %v", option, err)
		}
	}
	if err := s.CreateNIC(1, link); err != nil {
		return nil, fmt.Errorf("the device: %v", err)
	}
	address := tcpip.AddrFromSlice(net.ParseIP(ours).To4())
	protocol := tcpip.ProtocolAddress{
		Protocol:          ipv4.ProtocolNumber,
		AddressWithPrefix: tcpip.AddressWithPrefix{Address: address, PrefixLen: 24},
	}
	if err := s.AddProtocolAddress(1, protocol, stack.AddressProperties{}); err != nil {
		return nil, fmt.Errorf("%s: %v", ours, err)
	}
	s.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: 1}})
	to := tcpip.FullAddress{NIC: 1, Addr: tcpip.AddrFromSlice(net.ParseIP(theirs).To4()), Port: port}
	return gonet.DialContextTCP(context.Background(), s, to, ipv4.ProtocolNumber)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
